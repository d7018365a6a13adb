package qmgrd.e2e.spring;

import jakarta.jms.ConnectionFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.jms.DefaultJmsListenerContainerFactoryConfigurer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.connection.JmsTransactionManager;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.jms.listener.DefaultMessageListenerContainer;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** JmsTemplate, @JmsListener and a transaction manager over what the starter configures. The exit code counts failures. */
@SpringBootApplication
@EnableJms
public class Application {
    /** Where the listeners put what they got. */
    static final BlockingQueue<String> GOT = new LinkedBlockingQueue<>();

    private static int failed;

    @Bean
    PlatformTransactionManager transactions(ConnectionFactory f) {
        return new JmsTransactionManager(f);
    }

    /** A container whose listeners take each message under the transaction manager. */
    @Bean
    DefaultJmsListenerContainerFactory transacted(ConnectionFactory f, DefaultJmsListenerContainerFactoryConfigurer c,
            PlatformTransactionManager t) {
        DefaultJmsListenerContainerFactory r = new DefaultJmsListenerContainerFactory();
        c.configure(r, f);
        r.setTransactionManager(t);
        r.setCacheLevel(DefaultMessageListenerContainer.CACHE_CONSUMER);
        return r;
    }

    /** The listeners: one plain, one that fails at a message's first delivery. */
    @Component
    static class Listeners {
        @JmsListener(destination = "DEV.QUEUE.2")
        void plain(String text) {
            GOT.add("plain " + text);
        }

        @JmsListener(destination = "DEV.QUEUE.3", containerFactory = "transacted")
        void transacted(jakarta.jms.TextMessage m) throws Exception {
            GOT.add("transacted " + m.getText() + " " + m.getIntProperty("JMSXDeliveryCount"));
            if (!m.getJMSRedelivered()) {
                throw new IllegalStateException("the first delivery is refused on purpose");
            }
        }
    }

    private static void same(String what, Object want, Object got) {
        boolean ok = want == null ? got == null : want.equals(got);
        failed += ok ? 0 : 1;
        System.out.println((ok ? "ok   " : "FAIL ") + what + (ok ? "" : ": want " + want + ", got " + got));
    }

    public static void main(String[] args) throws Exception {
        try (ConfigurableApplicationContext c = SpringApplication.run(Application.class, args)) {
            JmsTemplate t = c.getBean(JmsTemplate.class);
            t.setReceiveTimeout(20_000);
            t.convertAndSend("DEV.QUEUE.1", "hello, Spring");
            same("template sends and receives", "hello, Spring", t.receiveAndConvert("DEV.QUEUE.1"));
            t.convertAndSend("DEV.QUEUE.2", "one");
            same("listener", "plain one", GOT.poll(20, TimeUnit.SECONDS));
            TransactionTemplate unit = new TransactionTemplate(c.getBean(PlatformTransactionManager.class));
            unit.executeWithoutResult(s -> {
                t.convertAndSend("DEV.QUEUE.1", "undone");
                s.setRollbackOnly();
            });
            unit.executeWithoutResult(s -> t.convertAndSend("DEV.QUEUE.1", "done"));
            same("a unit rolled back leaves nothing", "done", t.receiveAndConvert("DEV.QUEUE.1"));
            t.convertAndSend("DEV.QUEUE.3", "again");
            same("listener that fails", "transacted again 1", GOT.poll(20, TimeUnit.SECONDS));
            same("gets the message again", "transacted again 2", GOT.poll(20, TimeUnit.SECONDS));
            t.setReceiveTimeout(JmsTemplate.RECEIVE_TIMEOUT_NO_WAIT);
            same("and no third time", null, GOT.poll(500, TimeUnit.MILLISECONDS));
            same("nothing is left", null, t.receiveAndConvert("DEV.QUEUE.3"));
        }
        System.exit(failed);
    }
}
