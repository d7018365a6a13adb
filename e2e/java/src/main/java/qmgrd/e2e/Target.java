package qmgrd.e2e;

import com.ibm.mq.MQException;
import com.ibm.mq.MQGetMessageOptions;
import com.ibm.mq.MQMessage;
import com.ibm.mq.MQPutMessageOptions;
import com.ibm.mq.MQQueue;
import com.ibm.mq.MQQueueManager;
import com.ibm.mq.constants.CMQC;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.jms.JmsPropertyContext;
import com.ibm.msg.client.wmq.WMQConstants;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Hashtable;
import javax.jms.JMSException;

/**
 * The queue manager that is tested. Arguments of every program: host, port, channel, queue manager, queue, then names of checks.
 * The system properties user and password are who connects.
 */
final class Target {
    static final int ARGUMENTS = 5;

    final String host;
    final int port;
    final String channel;
    final String qmgr;
    final String queue;
    final String user = System.getProperty("user");
    final String password = System.getProperty("password");

    Target(String[] a) {
        host = a[0];
        port = Integer.parseInt(a[1]);
        channel = a[2];
        qmgr = a[3];
        queue = a[4];
    }

    /** What the base classes connect with. Without a password only the name of the user is sent. */
    Hashtable<String, Object> props() {
        Hashtable<String, Object> p = new Hashtable<>();
        p.put(CMQC.TRANSPORT_PROPERTY, CMQC.TRANSPORT_MQSERIES_CLIENT);
        p.put(CMQC.HOST_NAME_PROPERTY, host);
        p.put(CMQC.PORT_PROPERTY, port);
        p.put(CMQC.CHANNEL_PROPERTY, channel);
        if (user != null) {
            p.put(CMQC.USER_ID_PROPERTY, user);
        }
        if (password != null) {
            p.put(CMQC.PASSWORD_PROPERTY, password);
            p.put(CMQC.USE_MQCSP_AUTHENTICATION_PROPERTY, Boolean.TRUE);
        }
        return p;
    }

    MQQueueManager connect() throws MQException {
        return new MQQueueManager(qmgr, props());
    }

    JmsConnectionFactory factory() throws JMSException {
        return client(JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createConnectionFactory());
    }

    /** The same of a factory of any kind. */
    <F extends JmsPropertyContext> F client(F f) throws JMSException {
        f.setStringProperty(WMQConstants.WMQ_HOST_NAME, host);
        f.setIntProperty(WMQConstants.WMQ_PORT, port);
        f.setStringProperty(WMQConstants.WMQ_CHANNEL, channel);
        f.setStringProperty(WMQConstants.WMQ_QUEUE_MANAGER, qmgr);
        f.setIntProperty(WMQConstants.WMQ_CONNECTION_MODE, WMQConstants.WMQ_CM_CLIENT);
        if (user != null) {
            f.setStringProperty(WMQConstants.USERID, user);
        }
        if (password != null) {
            f.setStringProperty(WMQConstants.PASSWORD, password);
            f.setBooleanProperty(WMQConstants.USER_AUTHENTICATION_MQCSP, true);
        }
        return f;
    }

    /** A port of this machine that refuses connections: it is bound, so that nobody else gets it, and not listened on. */
    static SocketChannel nobody() throws IOException {
        return SocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    static int port(SocketChannel c) {
        return c.socket().getLocalPort();
    }

    static MQMessage text(String s) throws Exception {
        MQMessage m = new MQMessage();
        m.format = CMQC.MQFMT_STRING;
        m.writeString(s);
        return m;
    }

    static String text(MQMessage m) throws Exception {
        return m.readStringOfByteLength(m.getDataLength());
    }

    static MQPutMessageOptions pmo(int options) {
        MQPutMessageOptions p = new MQPutMessageOptions();
        p.options = options;
        return p;
    }

    static MQGetMessageOptions gmo(int options, int wait) {
        MQGetMessageOptions g = new MQGetMessageOptions();
        g.options = options;
        g.waitInterval = wait;
        return g;
    }

    /** Gets until nothing is there. */
    static void drain(MQQueue q) throws Exception {
        MQGetMessageOptions g = gmo(CMQC.MQGMO_NO_SYNCPOINT | CMQC.MQGMO_NO_WAIT | CMQC.MQGMO_ACCEPT_TRUNCATED_MSG, 0);
        while (true) {
            try {
                q.get(new MQMessage(), g, 0);
            } catch (MQException e) {
                if (e.reasonCode == CMQC.MQRC_NO_MSG_AVAILABLE) {
                    return;
                }
                Checks.same(CMQC.MQRC_TRUNCATED_MSG_ACCEPTED, e.reasonCode);
            }
        }
    }
}
