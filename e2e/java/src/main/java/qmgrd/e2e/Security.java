package qmgrd.e2e;

import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.MQTopic;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.Hashtable;
import javax.jms.JMSException;
import javax.jms.JMSSecurityException;

/**
 * What the vendor's client meets at a queue manager of "qmgrd start --dev": each line is one attempt and the reason code that
 * it must end with. Arguments: host, port. System properties of the JVM name key and trust store.
 */
public final class Security {
    private static String host;
    private static int port;
    private static int bad;

    private Security() {}

    private static Hashtable<String, Object> props(String channel, String user, String password) {
        Hashtable<String, Object> p = new Hashtable<>();
        p.put(CMQC.TRANSPORT_PROPERTY, CMQC.TRANSPORT_MQSERIES_CLIENT);
        p.put(CMQC.HOST_NAME_PROPERTY, host);
        p.put(CMQC.PORT_PROPERTY, Integer.valueOf(port));
        p.put(CMQC.CHANNEL_PROPERTY, channel);
        if (user != null) {
            p.put(CMQC.USER_ID_PROPERTY, user);
            p.put(CMQC.PASSWORD_PROPERTY, password);
            p.put(CMQC.USE_MQCSP_AUTHENTICATION_PROPERTY, Boolean.TRUE);
        }
        return p;
    }

    private interface Act {
        void on(MQQueueManager q) throws Exception;
    }

    private static final Act NOTHING = q -> {};

    /** Connects, acts, and compares the reason with want. */
    private static void attempt(String what, int want, Hashtable<String, Object> p, Act act) {
        int got = 0;
        String text = "";
        try {
            MQQueueManager q = new MQQueueManager("QM1", p);
            try {
                act.on(q);
            } finally {
                q.disconnect();
            }
        } catch (MQException e) {
            got = e.reasonCode;
            text = e.toString();
        } catch (Exception e) {
            got = -1;
            text = e.toString();
        }
        report(what, want, got, text);
    }

    private static void report(String what, int want, int got, String text) {
        boolean ok = got == want;
        if (!ok) {
            bad++;
        }
        System.out.println((ok ? "ok   " : "FAIL ") + what + ": reason " + got + (ok ? "" : ", want " + want + " " + text));
    }

    private static Act open(String queue, int options) {
        return q -> q.accessQueue(queue, options).close();
    }

    private static void putGet(MQQueueManager q) throws Exception {
        MQQueue h = q.accessQueue("DEV.QUEUE.1", CMQC.MQOO_OUTPUT | CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_INQUIRE);
        MQMessage m = new MQMessage();
        m.writeString("hello");
        h.put(m, new MQPutMessageOptions());
        MQMessage r = new MQMessage();
        h.get(r, new MQGetMessageOptions());
        if (!"hello".equals(r.readStringOfByteLength(r.getMessageLength())) || !"app".equals(r.userId.trim())) {
            throw new IllegalStateException("message of " + r.userId);
        }
        h.close();
    }

    private static void publish(MQQueueManager q) throws Exception {
        MQTopic t = q.accessTopic("", "DEV.BASE.TOPIC", CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
        t.close();
    }

    private static void publishElsewhere(MQQueueManager q) throws Exception {
        MQTopic t = q.accessTopic("elsewhere", null, CMQC.MQTOPIC_OPEN_AS_PUBLICATION, CMQC.MQOO_OUTPUT);
        t.close();
    }

    /** JMS wraps the reason: a wrong password is a JMSSecurityException. */
    private static void jms(String what, int want, String user, String password) {
        int got = 0;
        String text = "";
        try {
            JmsConnectionFactory f = JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createConnectionFactory();
            f.setStringProperty(WMQConstants.WMQ_HOST_NAME, host);
            f.setIntProperty(WMQConstants.WMQ_PORT, port);
            f.setStringProperty(WMQConstants.WMQ_CHANNEL, "DEV.APP.SVRCONN");
            f.setIntProperty(WMQConstants.WMQ_CONNECTION_MODE, WMQConstants.WMQ_CM_CLIENT);
            f.setStringProperty(WMQConstants.WMQ_QUEUE_MANAGER, "QM1");
            f.setBooleanProperty(WMQConstants.USER_AUTHENTICATION_MQCSP, true);
            f.createConnection(user, password).close();
        } catch (JMSException e) {
            text = e.toString();
            got = e.getLinkedException() instanceof MQException ? ((MQException) e.getLinkedException()).reasonCode : -1;
            if (got == 2035 && !(e instanceof JMSSecurityException)) {
                got = -2;
            }
        }
        report(what, want, got, text);
    }

    public static void main(String[] a) {
        host = a[0];
        port = Integer.parseInt(a[1]);
        String app = System.getProperty("app.password");
        String adm = System.getProperty("admin.password");
        MQException.logExclude(Integer.valueOf(2035));
        attempt("app puts and gets", 0, props("DEV.APP.SVRCONN", "app", app), Security::putGet);
        attempt("app publishes to dev/", 0, props("DEV.APP.SVRCONN", "app", app), Security::publish);
        attempt("app publishes elsewhere", 2035, props("DEV.APP.SVRCONN", "app", app), Security::publishElsewhere);
        attempt("wrong password", 2035, props("DEV.APP.SVRCONN", "app", "wrong-" + app), NOTHING);
        attempt("unknown user", 2035, props("DEV.APP.SVRCONN", "eve", app), NOTHING);
        attempt("no password", 2035, props("DEV.APP.SVRCONN", null, null), NOTHING);
        attempt("administrator on the channel of applications", 2035, props("DEV.APP.SVRCONN", "admin", adm), NOTHING);
        attempt("administrator on his channel", 0, props("DEV.ADMIN.SVRCONN", "admin", adm),
            open("SYSTEM.ADMIN.COMMAND.QUEUE", CMQC.MQOO_OUTPUT));
        attempt("app on the administrator's channel", 2035, props("DEV.ADMIN.SVRCONN", "app", app), NOTHING);
        attempt("SYSTEM channel", 2035, props("SYSTEM.DEF.SVRCONN", "app", app), NOTHING);
        attempt("unknown channel", 2540, props("NO.SUCH.CHANNEL", "app", app), NOTHING);
        attempt("queue without authority", 2035, props("DEV.APP.SVRCONN", "app", app),
            open("SYSTEM.ADMIN.COMMAND.QUEUE", CMQC.MQOO_OUTPUT));
        attempt("set without authority", 2035, props("DEV.APP.SVRCONN", "app", app), open("DEV.QUEUE.1", CMQC.MQOO_SET));
        attempt("context without authority", 2035, props("DEV.APP.SVRCONN", "app", app),
            open("DEV.QUEUE.1", CMQC.MQOO_OUTPUT | CMQC.MQOO_SET_ALL_CONTEXT));
        Hashtable<String, Object> old = props("DEV.APP.SVRCONN", "app", app);
        old.put(CMQC.USE_MQCSP_AUTHENTICATION_PROPERTY, Boolean.FALSE);
        if (app.length() <= 12) { // all that this way has room for
            attempt("compatibility mode", 0, old, Security::putGet);
        }
        jms("JMS", 0, "app", app);
        jms("JMS, wrong password", 2035, "app", "wrong-" + app);
        if (System.getProperty("javax.net.ssl.trustStore") != null) {
            tls(app);
        }
        System.exit(bad);
    }

    private static void tls(String app) {
        for (String suite : new String[] {"TLS_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}) {
            Hashtable<String, Object> p = props("TLS.CH", "app", app);
            p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, suite);
            attempt("TLS with " + suite, 0, p, Security::putGet);
            p = props("PEER.CH", null, null);
            p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, suite);
            attempt("the certificate's user with " + suite, 0, p, Security::putGet);
        }
        attempt("plain on a channel with SSLCIPH", 2397, props("TLS.CH", "app", app), NOTHING);
        Hashtable<String, Object> p = props("TLS13.CH", "app", app);
        p.put(CMQC.SSL_CIPHER_SUITE_PROPERTY, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
        attempt("TLS 1.2 on a channel of TLS 1.3", 2397, p, NOTHING);
    }
}
