package qmgrd.e2e;

import static qmgrd.e2e.Checks.reason;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Target.gmo;
import static qmgrd.e2e.Target.pmo;
import static qmgrd.e2e.Target.text;

import com.ibm.mq.MQMessage;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Hashtable;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Session;

/**
 * A channel definition table in JSON tells the client where the queue manager is. It has definitions that lead nowhere before one
 * that does, in the group GROUP, and one for the queue manager's own name.
 */
public final class Ccdt {
    private final Target target;
    private final URL table;

    private Ccdt(Target t) throws Exception {
        target = t;
        int nobody = Target.port(Target.nobody()); // till the program ends
        String json = "{\"channel\": ["
                + definition("A.NOWHERE", "GROUP", nobody) + ", "
                + definition("B.NO.SUCH.CHANNEL", "GROUP", t.port) + ", "
                + definition(t.channel, "GROUP", t.port) + ", "
                + definition(t.channel, t.qmgr, t.port) + ", "
                + definition("C.ONLY.NOWHERE", "NOWHERE", nobody) + "]}";
        Path file = Files.createTempFile(Path.of(""), "ccdt", ".json").toAbsolutePath();
        Files.writeString(file, json);
        table = file.toUri().toURL();
    }

    private String definition(String channel, String qmgr, int port) {
        return "{\"name\": \"" + channel + "\", \"type\": \"clientConnection\", \"clientConnection\": {\"queueManager\": \"" + qmgr
                + "\", \"connection\": [{\"host\": \"" + target.host + "\", \"port\": " + port + "}]}}";
    }

    public static void main(String[] args) throws Exception {
        Ccdt c = new Ccdt(new Target(args));
        Checks all = new Checks(args);
        all.check("name", () -> c.base(c.target.qmgr));
        all.check("group", () -> c.base("*GROUP"));
        all.check("wrongname", () -> reason(CMQC.MQRC_CLIENT_CONN_ERROR, () -> c.base("NOBODY")));
        all.check("nowhere", () -> reason(CMQC.MQRC_HOST_NOT_AVAILABLE, () -> c.base("*NOWHERE")));
        all.check("jmsname", () -> c.jms(c.target.qmgr));
        all.check("jmsgroup", () -> c.jms("*GROUP"));
        all.exit();
    }

    private void base(String qmgr) throws Exception {
        Hashtable<String, Object> p = target.props();
        p.remove(CMQC.HOST_NAME_PROPERTY);
        p.remove(CMQC.PORT_PROPERTY);
        p.remove(CMQC.CHANNEL_PROPERTY);
        MQQueueManager m = new MQQueueManager(qmgr, p, table);
        MQQueue q = m.accessQueue(target.queue, CMQC.MQOO_INPUT_SHARED | CMQC.MQOO_OUTPUT);
        q.put(text("by a table"), pmo(CMQC.MQPMO_NO_SYNCPOINT));
        MQMessage in = new MQMessage();
        q.get(in, gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_WAIT, 20_000));
        same("by a table", text(in));
        same(target.qmgr, m.getAttributeString(CMQC.MQCA_Q_MGR_NAME, 48).trim());
        m.disconnect();
    }

    private JmsConnectionFactory factory(String qmgr) throws JMSException {
        JmsConnectionFactory f = JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createConnectionFactory();
        f.setStringProperty(WMQConstants.WMQ_CCDTURL, table.toString());
        f.setStringProperty(WMQConstants.WMQ_QUEUE_MANAGER, qmgr);
        f.setIntProperty(WMQConstants.WMQ_CONNECTION_MODE, WMQConstants.WMQ_CM_CLIENT);
        if (target.user != null) {
            f.setStringProperty(WMQConstants.USERID, target.user);
        }
        return f;
    }

    private void jms(String qmgr) throws Exception {
        try (Connection c = factory(qmgr).createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            s.createProducer(s.createQueue("queue:///" + target.queue)).send(s.createTextMessage("by a table"));
            Checks.text("by a table", s.createConsumer(s.createQueue("queue:///" + target.queue)).receive(20_000));
        }
    }
}
